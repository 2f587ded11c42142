/** Choices of the settings form in words. */
import { t } from "../strings.ts";
import type { Draft, Verdict } from "./draft.ts";

type Options<V extends string> = readonly (readonly [V, string])[];

export const verdicts = (): Options<Verdict> => [
  ["allow", t("verdictAllow")],
  ["ask", t("verdictAsk")],
  ["deny", t("verdictDeny")],
];
export const deliveries = (): Options<Draft["onBusyMessage"]> => [
  ["steer", t("busySteer")],
  ["follow_up", t("busyFollow")],
  ["replan", t("busyReplan")],
  ["reject", t("busyReject")],
];
export const summaries = (): Options<Draft["summarize"]> => [
  ["auto", t("summarizeAuto")],
  ["always", t("summarizeAlways")],
];
export const answerLocales = (): Options<Draft["locale"]> => [
  ["auto", t("localeAuto")],
  ["en", "English"],
  ["zh", "中文"],
];
