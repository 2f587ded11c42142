/**
 * A terminal with a line to type on below, and lines that come above it at any time.
 *
 * N1  What is being typed is never broken by what is printed.
 * N2  While something else has the keys (a choice, a confirmation), lines are held back and come after it.
 */
import {
  clearScreenDown,
  createInterface,
  cursorTo,
  type Interface,
  moveCursor,
} from "node:readline";
import { PASTE_OFF, PASTE_ON, pasteStream, unmarked } from "./paste.ts";

export interface ScreenHandlers {
  /** A whole message: of several lines when they were pasted, or ended with a backslash. */
  line(text: string): void;
  interrupt(typed: boolean): void;
  end(): void;
}

export class Screen {
  readonly #input: NodeJS.ReadStream;
  readonly #output: NodeJS.WriteStream;
  readonly #handlers: ScreenHandlers;
  #reader: Interface | null = null;
  #keys: ReturnType<typeof pasteStream> | null = null;
  #prompt = "› ";
  #begun = "";
  #held: string[] = [];
  #away = false;

  constructor(input: NodeJS.ReadStream, output: NodeJS.WriteStream, handlers: ScreenHandlers) {
    this.#input = input;
    this.#output = output;
    this.#handlers = handlers;
  }

  get columns(): number {
    return this.#output.columns || 80;
  }

  open(): void {
    this.#away = false;
    this.#output.write(PASTE_ON);
    this.#keys = pasteStream(this.#input);
    this.#input.pipe(this.#keys);
    const reader = createInterface({
      input: this.#keys,
      output: this.#output,
      terminal: true,
      prompt: this.#prompt,
      escapeCodeTimeout: 50,
    });
    this.#reader = reader;
    reader.on("line", (line) => this.#line(line));
    reader.on("SIGINT", () => {
      const typed = reader.line !== "" || this.#begun !== "";
      this.#begun = "";
      this.#handlers.interrupt(typed);
      if (typed) reader.write(null, { ctrl: true, name: "u" });
    });
    reader.on("close", () => {
      if (this.#reader === reader) this.#handlers.end();
    });
    for (const line of this.#held.splice(0)) this.print(line);
    reader.prompt();
  }

  /** Gives the keys away; what is printed meanwhile comes when the screen is opened again. */
  leave(): void {
    this.#away = true;
    const reader = this.#reader;
    this.#reader = null;
    if (reader) this.#wipe(reader);
    if (this.#keys) this.#input.unpipe(this.#keys);
    reader?.close();
    this.#output.write(PASTE_OFF);
  }

  print(text: string): void {
    if (this.#away) return void this.#held.push(text);
    const reader = this.#reader;
    if (reader) this.#wipe(reader);
    this.#output.write(`${text}\n`);
    reader?.prompt(true);
  }

  #line(line: string): void {
    const text = this.#begun + unmarked(line);
    if (text.endsWith("\\")) {
      this.#begun = `${text.slice(0, -1)}\n`;
      this.#reader?.setPrompt("… ");
      return this.#reader?.prompt();
    }
    this.#begun = "";
    this.#reader?.setPrompt(this.#prompt);
    this.#handlers.line(text);
    this.#reader?.prompt();
  }

  #wipe(reader: Interface): void {
    const { rows } = reader.getCursorPos();
    moveCursor(this.#output, 0, -rows);
    cursorTo(this.#output, 0);
    clearScreenDown(this.#output);
  }
}
