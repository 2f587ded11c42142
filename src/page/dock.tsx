/** Below the timeline: the question that waits, or the box to write in. */
import { Ask } from "./ask.tsx";
import { Composer } from "./composer.tsx";
import { useUploads } from "./files/use-uploads.ts";
import { t } from "./strings.ts";
import type { LiveSession } from "./use-session.ts";

interface Props {
  session: LiveSession;
  offer: { text: string; count: number };
}

export function Dock({ session, offer }: Props) {
  const { view } = session;
  // Of the place and not of the box in it: a question may open while files are on their way.
  const uploads = useUploads(() => Promise.resolve(session.id));
  const { wait } = view;
  const answer = wait && (
    <Ask
      key={wait.wait_id}
      wait={wait}
      onAnswer={(given) => session.answer(wait.wait_id, given)}
      onMessage={session.send}
      uploads={uploads}
      onStop={session.stop}
    />
  );
  if (wait?.kind === "question") return <div class="dock">{answer}</div>;
  const running = view.status === "running";
  return (
    <div class="dock">
      {answer}
      <Composer
        name={session.id}
        mode={wait ? "held" : running ? "running" : "idle"}
        delivery={view.snapshot?.settings.onBusyMessage ?? "steer"}
        placeholder={t(running ? "steerHint" : "replyHint")}
        offer={offer}
        uploads={uploads}
        onSend={session.send}
        {...(running && { onStop: session.stop })}
      />
    </div>
  );
}
