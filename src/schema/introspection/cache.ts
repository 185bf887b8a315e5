/** Finished answers of introspection, bounded by their size over all role schemas; equal ones under way are shared. */
export interface AnswerCache {
  get(key: string, make: () => Promise<string>): Promise<string>;
}

/** @param maxCharacters of all kept answers together */
export function createAnswerCache(maxCharacters: number): AnswerCache {
  const answers = new Map<string, string>();
  const running = new Map<string, Promise<string>>();
  let characters = 0;

  const keep = (key: string, answer: string): void => {
    if (answer.length > maxCharacters) return;
    answers.set(key, answer);
    characters += answer.length;
    for (const [oldest, text] of answers) {
      if (characters <= maxCharacters) return;
      answers.delete(oldest);
      characters -= text.length;
    }
  };

  return {
    async get(key, make) {
      const known = answers.get(key);
      if (known !== undefined) {
        answers.delete(key);
        answers.set(key, known); // youngest
        return known;
      }
      let answer = running.get(key);
      if (answer === undefined) {
        answer = make().then(
          (text) => {
            running.delete(key);
            keep(key, text);
            return text;
          },
          (error: unknown) => {
            running.delete(key);
            throw error;
          },
        );
        running.set(key, answer);
      }
      return answer;
    },
  };
}
