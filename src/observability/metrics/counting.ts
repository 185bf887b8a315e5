/** Says whether anybody wants to know what is counted; until then nothing is counted for that alone. */
export class Counting {
  isOn: boolean;

  constructor(isOn: boolean) {
    this.isOn = isOn;
  }

  of<M>(meter: M): Counted<M> {
    return { meter, current: () => (this.isOn ? meter : null) };
  }
}

/** A meter that is used while somebody wants to know. */
export interface Counted<M> {
  /** For those that are asked for what they know anyhow. */
  readonly meter: M;
  /** null: nobody wants to know at the moment. */
  current(): M | null;
}
