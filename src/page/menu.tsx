/** A button with a menu: in the top layer, so that no list cuts it off; arrows, Home, End and Escape work. */
import { useId, useRef } from "preact/hooks";
import { Icon, type IconName } from "./icons.tsx";

export interface MenuItem {
  icon: IconName;
  label: string;
  danger?: boolean;
  act(): void;
}
interface Props {
  label: string;
  items: readonly MenuItem[];
  small?: boolean;
}

export function Menu({ label, items, small = false }: Props) {
  const id = useId();
  const button = useRef<HTMLButtonElement>(null);
  const box = useRef<HTMLDivElement>(null);
  const opened = (open: boolean) => {
    if (!open || !box.current || !button.current) return;
    place(box.current, button.current.getBoundingClientRect());
    box.current.querySelector("button")?.focus();
  };
  const choose = (item: MenuItem) => {
    box.current?.hidePopover();
    button.current?.focus();
    item.act();
  };
  return (
    <>
      <button
        ref={button}
        type="button"
        class={`icon-button ${small ? "small" : ""}`}
        popovertarget={id}
        aria-haspopup="menu"
        title={label}
      >
        <Icon name="more" />
        <span class="sr-only">{label}</span>
      </button>
      <div
        ref={box}
        id={id}
        class="menu"
        popover="auto"
        role="menu"
        tabIndex={-1}
        aria-label={label}
        onToggle={(e) => opened(e.newState === "open")}
        onKeyDown={(e) => box.current && walk(e, box.current)}
      >
        {items.map((item) => (
          <button
            key={item.label}
            type="button"
            role="menuitem"
            tabIndex={-1}
            class={item.danger ? "danger" : ""}
            onClick={() => choose(item)}
          >
            <Icon name={item.icon} /> {item.label}
          </button>
        ))}
      </div>
    </>
  );
}

const GAP_PX = 4;
/** Below the button, or above it where there is no room; within the window. */
function place(box: HTMLElement, at: DOMRect): void {
  const { offsetHeight: height, offsetWidth: width } = box;
  const below = at.bottom + GAP_PX + height <= innerHeight;
  const top = below ? at.bottom + GAP_PX : Math.max(GAP_PX, at.top - GAP_PX - height);
  const left = Math.max(GAP_PX, Math.min(at.right - width, innerWidth - width - GAP_PX));
  box.style.top = `${top}px`;
  box.style.left = `${left}px`;
}

/** Arrows, Home and End; Tab leaves, and closes. */
function walk(event: KeyboardEvent, box: HTMLElement): void {
  if (event.key === "Tab") {
    box.hidePopover();
    return;
  }
  const items = [...box.querySelectorAll("button")];
  const at = items.indexOf(document.activeElement as HTMLButtonElement);
  const to: Record<string, number> = {
    ArrowDown: (at + 1) % items.length,
    ArrowUp: (at - 1 + items.length) % items.length,
    Home: 0,
    End: items.length - 1,
  };
  const next = to[event.key];
  if (next === undefined) return;
  event.preventDefault();
  items[next]?.focus();
}
