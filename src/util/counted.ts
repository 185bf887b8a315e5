/** Returns `1 change`, `2 changes` or `0 matches`. @param plural default: the noun with an s */
export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : plural}`;
}
