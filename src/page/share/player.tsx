/** Play, pause, how fast, and where: the controls of a replay. It begins at the end, where the result is. */
import { useEffect, useState } from "preact/hooks";
import { Icon } from "../icons.tsx";
import { count } from "../numbers.ts";
import { t } from "../strings.ts";
import type { Replay } from "./replay.ts";

const SPEEDS = [1, 2, 4, 16] as const;
/** Faster than this nobody sees anything. */
const LEAST_MS = 8;

export interface PlayerState {
  /** So many events are shown. */
  at: number;
  playing: boolean;
  speed: number;
  go(at: number): void;
  toggle(): void;
  setSpeed(speed: number): void;
}

export function usePlayer(replay: Replay): PlayerState {
  const [at, setAt] = useState(replay.length);
  const [playing, setPlaying] = useState(false);
  const [speed, setSpeed] = useState<number>(SPEEDS[1]);
  useEffect(() => {
    if (!playing) return;
    if (at >= replay.length) {
      setPlaying(false);
      return;
    }
    const wait = Math.max(LEAST_MS, replay.pause(at) / speed);
    const timer = setTimeout(() => setAt(at + 1), wait);
    return () => clearTimeout(timer);
  }, [playing, at, speed]);
  const toggle = () => {
    if (!playing && at >= replay.length) setAt(0);
    setPlaying(!playing);
  };
  const go = (to: number) => {
    setPlaying(false);
    setAt(to);
  };
  return { at, playing, speed, go, toggle, setSpeed };
}

export function Player({ player, length }: { player: PlayerState; length: number }) {
  const { at, playing, speed } = player;
  return (
    <section class="player" aria-label={t("replay")}>
      <button type="button" class="button primary" onClick={player.toggle}>
        <Icon name={playing ? "pause" : "play"} /> {t(playing ? "pause" : "play")}
      </button>
      <input
        type="range"
        min={0}
        max={length}
        value={at}
        aria-label={t("position")}
        aria-valuetext={t("positionOf", { n: count(at), all: count(length) })}
        onInput={(e) => player.go(Number(e.currentTarget.value))}
      />
      <span class="muted position">{t("positionOf", { n: count(at), all: count(length) })}</span>
      <label class="mode">
        <span class="sr-only">{t("speed")}</span>
        <select value={speed} onChange={(e) => player.setSpeed(Number(e.currentTarget.value))}>
          {SPEEDS.map((times) => (
            <option key={times} value={times}>
              {times} ×
            </option>
          ))}
        </select>
      </label>
      <button
        type="button"
        class="button"
        disabled={at >= length}
        onClick={() => player.go(length)}
      >
        {t("toEnd")}
      </button>
    </section>
  );
}
