/** One small set of line icons, 16 × 16, drawn for this page. They never carry meaning alone. */
const PATHS = {
  plus: "M8 3v10M3 8h10",
  search: "M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9zM10.3 10.3 13.5 13.5",
  shell: "M2 3.5h12v9H2zM4.5 6.5l2 1.7-2 1.8M8.5 10.2h3",
  file: "M4 1.8h5l3 3v9.4H4zM9 1.8v3h3M6 8.5h4M6 11h4",
  browser:
    "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM2 8h12M8 2c2.2 2 2.2 10 0 12M8 2c-2.2 2-2.2 10 0 12",
  mcp: "M6 2v3.5M10 2v3.5M4.2 5.5h7.6v2.2a3.8 3.8 0 0 1-7.6 0zM8 11.5V14",
  other: "M8 2.5l1.4 3.4 3.6.3-2.8 2.3.9 3.5L8 10.1 4.9 12l.9-3.5L3 6.2l3.6-.3z",
  check: "M3 8.5l3.2 3.2L13 4.8",
  cross: "M4 4l8 8M12 4l-8 8",
  dot: "M8 11.5a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7z",
  ring: "M8 13A5 5 0 1 0 8 3a5 5 0 0 0 0 10z",
  half: "M8 3a5 5 0 0 1 0 10z",
  square: "M4.5 4.5h7v7h-7z",
  chevron: "M6 3.5 10.5 8 6 12.5",
  down: "M8 3v9.5M4 8.8l4 3.9 4-3.9",
  up: "M8 13V3.5M4 7.2l4-3.9 4 3.9",
  trash: "M3 4.5h10M6.3 4.5V2.8h3.4v1.7M4.4 4.5l.6 9h6l.6-9M6.8 7v4M9.2 7v4",
  folder: "M2 4h4.5l1.5 1.8h6V13H2z",
  panel: "M2 3h12v10H2zM6 3v10",
  exit: "M6.5 2.5H3v11h3.5M10 5l3 3-3 3M13 8H6",
  sun: "M8 10.8a2.8 2.8 0 1 0 0-5.6 2.8 2.8 0 0 0 0 5.6zM8 1.5v1.6M8 12.9v1.6M1.5 8h1.6M12.9 8h1.6M3.4 3.4l1.1 1.1M11.5 11.5l1.1 1.1M12.6 3.4l-1.1 1.1M4.5 11.5l-1.1 1.1",
  moon: "M13 9.6A5.6 5.6 0 0 1 6.4 3a5.6 5.6 0 1 0 6.6 6.6z",
  auto: "M8 13.5A5.5 5.5 0 1 0 8 2.5a5.5 5.5 0 0 0 0 11zM8 2.5v11",
  swap: "M3 5.5h9.5M10 3l2.5 2.5L10 8M13 10.5H3.5M6 8l-2.5 2.5L6 13",
  image: "M2 3h12v10H2zM2 11l3.4-3.4 2.8 2.8 2.3-2.3L14 11.4M10.8 6.2h.1",
  table: "M2 3h12v10H2zM2 6.5h12M2 9.8h12M6.5 3v10",
  copy: "M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3",
  pen: "M3 13l.7-3L11 2.7l2.3 2.3L6 12.3zM9.5 4.2l2.3 2.3",
  fork: "M4.5 5.5v5M4.5 5.5a1.6 1.6 0 1 0 0-3 1.6 1.6 0 0 0 0 3zM4.5 13.5a1.6 1.6 0 1 0 0-3 1.6 1.6 0 0 0 0 3zM11.5 5.5a1.6 1.6 0 1 0 0-3 1.6 1.6 0 0 0 0 3zM11.5 5.5c0 3-3 3-7 4.5",
  clip: "M12.5 7.5l-5 5a2.9 2.9 0 0 1-4.1-4.1l5.4-5.4a2 2 0 0 1 2.8 2.8l-5.3 5.4a1 1 0 0 1-1.4-1.4l4.6-4.7",
  more: "M4.2 8a.7.7 0 1 1-1.4 0 .7.7 0 0 1 1.4 0zM8.7 8a.7.7 0 1 1-1.4 0 .7.7 0 0 1 1.4 0zM13.2 8a.7.7 0 1 1-1.4 0 .7.7 0 0 1 1.4 0z",
  pin: "M6 2.5h4l-.6 4.2 2.1 2.1H4.5l2.1-2.1zM8 8.8v4.9",
  share: "M8 9.5V2.2M5.2 5 8 2.2 10.8 5M4 7.5H3v6h10v-6h-1",
  gear: "M8 10a2 2 0 1 0 0-4 2 2 0 0 0 0 4zM8 1.8v2M8 12.2v2M1.8 8h2M12.2 8h2M3.6 3.6 5 5M11 11l1.4 1.4M12.4 3.6 11 5M5 11l-1.4 1.4",
  bell: "M4 11.5V7.2a4 4 0 0 1 8 0v4.3l1 1H3zM6.8 14h2.4",
  talk: "M2.5 3h11v8H7.2L4.5 13.2V11h-2z",
  back: "M10 3.5 5.5 8l4.5 4.5",
  again: "M12.9 8a5 5 0 1 1-1.5-3.6L13 6M13 2.8V6H9.8",
  play: "M5 3.2 12.5 8 5 12.8z",
  pause: "M5.5 3.5v9M10.5 3.5v9",
  help: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM6.2 6.3a1.8 1.8 0 1 1 2.6 1.6c-.5.3-.8.6-.8 1.2M8 11.3v.1",
  alert: "M8 2.2 14.2 13H1.8zM8 6.5v3M8 11.2v.3",
} as const;
export type IconName = keyof typeof PATHS;

const FILLED: ReadonlySet<IconName> = new Set(["dot", "half", "square", "play", "more"]);

export function Icon({ name, class: more = "" }: { name: IconName; class?: string }) {
  return (
    <svg class={`icon ${more}`} viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      {name === "half" && <path d={PATHS.ring} fill="none" />}
      <path d={PATHS[name]} fill={FILLED.has(name) ? "currentColor" : "none"} />
    </svg>
  );
}

/** The dormouse, asleep: what a waiting session does. */
export function Sleeper({ class: more = "" }: { class?: string }) {
  return (
    <svg class={`sleeper ${more}`} viewBox="0 0 48 32" aria-hidden="true" focusable="false">
      <path
        class="fur"
        d="M6 24c0-9 7-16 16-16 9.5 0 14.5 6 14.5 12 0 4.5-3 7-7 7H10c-2.5 0-4-1-4-3z"
      />
      <circle class="fur" cx="28.5" cy="9.6" r="4.4" />
      <circle class="ear" cx="28.5" cy="9.6" r="2.2" />
      <path class="ink" d="M26.2 18.4q1.8 1.7 3.6 0M35.7 20l.9.3" />
      <path class="ink" d="M34 22.8l3.6.6M34 24.2l3.2 1.3" />
      <path class="tail" d="M31 26.8c-4 2.2-13 2.2-20.5-.3" />
      <path class="dream" d="M39 6.5h3.2L39 10.3h3.2M43.6 2h2.2l-2.2 2.6h2.2" />
    </svg>
  );
}
