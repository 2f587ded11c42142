/** Text that comes in pieces, shown in whole lines: as soon as one is full, so that a prompt below it stays whole. */
import { tamer } from "./escape.ts";
import { wrapPoint } from "./paint.ts";

export interface LineStream {
  push(piece: string): void;
  /** Shows what is left. */
  end(): void;
}

export function lineStream(
  write: (line: string) => void,
  columns: () => number,
  colour = false,
): LineStream {
  const safe = tamer(colour);
  let line = "";
  const drain = (): void => {
    for (let cut = line.indexOf("\n"); cut >= 0; cut = line.indexOf("\n")) {
      write(line.slice(0, cut));
      line = line.slice(cut + 1);
    }
    for (let at = wrapPoint(line, columns()); at > 0; at = wrapPoint(line, columns())) {
      write(line.slice(0, at).trimEnd());
      line = line.slice(at);
    }
  };
  return {
    push(piece) {
      line += safe.push(piece);
      drain();
    },
    end() {
      line += safe.end();
      drain();
      if (line.trim() !== "") write(line);
      line = "";
    },
  };
}
