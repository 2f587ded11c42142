/** What can be done with a message: copy it, use it again, go another way from it. */
import { useContext } from "preact/hooks";
import { Acts } from "./acts.ts";
import { CopyButton } from "./copy.tsx";
import { Icon, type IconName } from "./icons.tsx";
import { type StringKey, t } from "./strings.ts";

interface Props {
  text: string;
  seq: number;
  /** A person's own message can be written anew. */
  own?: boolean;
}

export function RowTools({ text, seq, own = false }: Props) {
  const acts = useContext(Acts);
  return (
    <div class="row-tools">
      <CopyButton text={text} />
      {acts && own && <Tool icon="pen" name="editResend" onClick={() => acts.reuse(text)} />}
      {acts && (
        <Tool icon="fork" name="forkHere" onClick={() => acts.fork(seq, own ? text : undefined)} />
      )}
    </div>
  );
}

function Tool(props: { icon: IconName; name: StringKey; onClick(): void }) {
  return (
    <button type="button" class="icon-button small" title={t(props.name)} onClick={props.onClick}>
      <Icon name={props.icon} />
      <span class="sr-only">{t(props.name)}</span>
    </button>
  );
}
