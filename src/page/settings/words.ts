/** Choices of the settings form in words. */
import { t } from "../strings.ts";
import type { Delivery, Verdict } from "./draft.ts";

type Options<V extends string> = readonly (readonly [V, string])[];

/** The first choice of each: not to state anything here. */
export const orInherited = <V extends string>(
  options: Options<V>,
  inherited: V | "" | undefined,
): Options<V | ""> => {
  const what = options.find(([value]) => value === inherited)?.[1] ?? inherited;
  return [["", what ? t("inherited", { what }) : t("inheritedPlain")], ...options];
};
export const switches = (): Options<"on" | "off"> => [
  ["on", t("switchOn")],
  ["off", t("switchOff")],
];
export const verdicts = (): Options<Verdict> => [
  ["allow", t("verdictAllow")],
  ["ask", t("verdictAsk")],
  ["deny", t("verdictDeny")],
];
export const deliveries = (): Options<Delivery> => [
  ["steer", t("busySteer")],
  ["follow_up", t("busyFollow")],
  ["replan", t("busyReplan")],
  ["reject", t("busyReject")],
];
export const summaries = (): Options<"auto" | "always"> => [
  ["auto", t("summarizeAuto")],
  ["always", t("summarizeAlways")],
];
export const answerLocales = (): Options<"auto" | "en" | "zh"> => [
  ["auto", t("localeAuto")],
  ["en", "English"],
  ["zh", "中文"],
];
