/** How many statements run at once; others wait, one after another. */
export class Slots {
  private free: number;
  readonly count: number;
  private readonly waiting: (() => void)[] = [];

  constructor(count: number) {
    this.free = count;
    this.count = count;
  }

  get used(): number {
    return this.count - this.free;
  }

  /** Those that wait. */
  get pending(): number {
    return this.waiting.length;
  }

  /**
   * @param onWait is given what takes back the wait, which then never ends; called only where one has to wait
   * @returns gives the place back
   */
  async take(onWait: (leave: () => void) => void): Promise<() => void> {
    if (this.free > 0) this.free--;
    else {
      await new Promise<void>((resolve) => {
        this.waiting.push(resolve);
        onWait(() => {
          const at = this.waiting.indexOf(resolve);
          if (at >= 0) this.waiting.splice(at, 1);
        });
      });
    }
    let given = false;
    return () => {
      if (given) return;
      given = true;
      const next = this.waiting.shift();
      if (next === undefined) this.free++;
      else next();
    };
  }
}
