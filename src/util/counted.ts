/** `1 change`, `2 changes`, `0 matches`. @param plural where it is not the noun with an s */
export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : plural}`;
}
