/** Returns a literal made of bytes: it means the same under any setting of the session. */
export function textLiteral(text: string): string {
  return text === '' ? `''` : `convert(x'${Buffer.from(text, 'utf8').toString('hex')}' using utf8mb4)`;
}
