/** Switch for meters: while no metrics page and no export is enabled, nothing is counted for them. */
export class Counting {
  isOn: boolean;

  constructor(isOn: boolean) {
    this.isOn = isOn;
  }

  of<M>(meter: M): Counted<M> {
    return { meter, current: () => (this.isOn ? meter : null) };
  }
}

/** Meter that is used only while metrics are on. */
export interface Counted<M> {
  /** The meter itself, whether metrics are on or off. */
  readonly meter: M;
  /** `null` while metrics are off. */
  current(): M | null;
}
