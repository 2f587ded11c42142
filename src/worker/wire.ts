/** From the stored session to what clients see: snapshots (bounded), frames, redaction. */
import { head, utf8Bytes } from "../core/chars.ts";
import { LIMITS } from "../core/limits.ts";
import type { Session } from "../core/session.ts";
import type { SettingsLayer } from "../core/settings.ts";
import { mergeSettings } from "../core/settings-merge.ts";
import type { SessionInfo, SessionView, SettingsLayers } from "../core/wire.ts";
import { redacted } from "./secrets.ts";

/** A session, and whether this request made it. */
export interface Made {
  view: SessionView;
  made: boolean;
}

/** A session that was made of another's lines, and how many of them could not be used. */
export interface Copied {
  view: SessionView;
  skipped: number;
}

export const infoOf = (s: Session): SessionInfo => ({
  id: s.id,
  title: s.title,
  mode: s.mode,
  status: s.status,
  phase: s.phase,
  created_at: s.created_at,
  updated_at: s.updated_at,
  last_seq: s.seq,
  epoch: s.epoch,
  pinned: s.pinned,
  preview: s.preview,
  usage: s.usage,
});

/** Code points of each text in a snapshot that would be too large otherwise. */
const SHORT_CHARS = 200;

function planView(s: Session, stepChars: number): SessionView["plan"] {
  if (!s.plan) return null;
  const { title, goal, success_criteria, steps } = s.plan;
  const cut = (t: string) => head(t, stepChars);
  return {
    title,
    goal,
    success_criteria,
    steps: steps.map((step) => ({
      ...step,
      description: cut(step.description),
      ...(step.result === undefined ? {} : { result: cut(step.result) }),
      ...(step.error === undefined ? {} : { error: cut(step.error) }),
    })),
  };
}

/** A layer of settings beside what holds without it. */
export const layersOf = (
  own: SettingsLayer,
  outer: (SettingsLayer | undefined)[],
): SettingsLayers => ({ own: redacted(own), inherited: redacted(mergeSettings(outer)) });

/** `layers`: the settings around the session's own, outermost first. */
export function viewOf(
  s: Session,
  layers: (SettingsLayer | undefined)[],
  files: number,
): SessionView {
  const view = (textChars: number): SessionView => ({
    ...infoOf(s),
    run: s.run,
    plan: planView(s, textChars),
    wait: s.wait && { ...s.wait, text: head(s.wait.text, Math.max(textChars, 1_000)) },
    queue: s.queue.map((q) => ({
      id: q.id,
      message_id: q.message_id,
      text: head(q.text, textChars),
      delivery: q.delivery,
    })),
    settings: redacted(mergeSettings([...layers, s.settings])),
    files_count: files,
  });
  const whole = view(LIMITS.stepChars);
  return utf8Bytes(JSON.stringify(whole)) <= LIMITS.snapshotBytes ? whole : view(SHORT_CHARS);
}
