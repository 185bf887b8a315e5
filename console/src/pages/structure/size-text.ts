const UNITS = ['bytes', 'kB', 'MB', 'GB', 'TB', 'PB'];

/** Returns a size in its largest unit, such as `16 kB`. @param bytes not negative */
export function sizeText(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < UNITS.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${value < 10 && unit > 0 ? value.toFixed(1) : Math.round(value)} ${UNITS[unit] ?? ''}`;
}
