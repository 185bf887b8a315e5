/** Questions on a terminal, kept below other output. */
import { createInterface, type Interface } from 'node:readline/promises';
import { printable } from './printable.ts';

/** Time after which a question is shown again below other output, in ms. */
const REDRAW_MS = 100;

export class Questions {
  #open: Interface | undefined;
  #redrawing: NodeJS.Timeout | undefined;

  /** Asks on standard error. @returns the answer without blanks around it */
  async ask(question: string): Promise<string> {
    const prompt = createInterface({ input: process.stdin, output: process.stderr });
    this.#open = prompt;
    // Only the last line is shown again below other output.
    const lines = question.split('\n').map((line) => printable(line));
    const last = lines.pop() ?? '';
    for (const line of lines) process.stderr.write(`${line}\n`);
    // The prompt takes Ctrl-C away from the process.
    prompt.once('SIGINT', () => process.kill(process.pid, 'SIGINT'));
    try {
      return (await prompt.question(last)).trim();
    } finally {
      this.#open = undefined;
      prompt.close();
    }
  }

  /** Clears the line of an open question, and shows it again after the output. */
  beforeOutput(): void {
    if (this.#open === undefined || process.stderr.isTTY !== true || this.#redrawing !== undefined) return;
    process.stderr.write('\r\u001b[K');
    this.#redrawing = setTimeout(() => {
      this.#redrawing = undefined;
      this.#open?.prompt(true);
    }, REDRAW_MS);
  }
}
