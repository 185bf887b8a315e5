const GAP = 4;

/** Positions a popover below an element, or above it if there is no space, within the window. */
export function placeBelow(popover: HTMLElement, anchor: HTMLElement): void {
  const at = anchor.getBoundingClientRect();
  const { width, height } = popover.getBoundingClientRect();
  const left = Math.max(8, Math.min(at.left, innerWidth - width - 8));
  const below = at.bottom + GAP;
  const top = below + height > innerHeight - 8 && at.top - GAP - height > 8 ? at.top - GAP - height : below;
  popover.style.left = `${left}px`;
  popover.style.top = `${top}px`;
}
