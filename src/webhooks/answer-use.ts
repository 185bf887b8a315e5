/** What the answers of servers of others to one request of a client have taken together; it grows. */
export interface AnswerUse {
  bytes: number;
}

/** Hears of the bytes of answers as they come; false: they are more than `most` together. */
export function takeWithin(use: AnswerUse, most: number): (bytes: number) => boolean {
  return (bytes) => {
    use.bytes += bytes;
    return use.bytes <= most;
  };
}
