/** Below the timeline: the question that waits, or the box to write in. */
import { Ask } from "./ask.tsx";
import { Composer } from "./composer.tsx";
import { t } from "./strings.ts";
import type { LiveSession } from "./use-session.ts";

interface Props {
  session: LiveSession;
  offer: { text: string; count: number };
}

export function Dock({ session, offer }: Props) {
  const { view } = session;
  const { wait } = view;
  const answer = wait && (
    <Ask
      key={wait.wait_id}
      wait={wait}
      onAnswer={(given) => session.answer(wait.wait_id, given)}
      onMessage={session.send}
      session={() => Promise.resolve(session.id)}
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
        session={() => Promise.resolve(session.id)}
        onSend={session.send}
        {...(running && { onStop: session.stop })}
      />
    </div>
  );
}
