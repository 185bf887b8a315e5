/** Returns a literal made of bytes, which does not depend on session settings. */
export function textLiteral(text: string): string {
  return text === '' ? `''` : `convert(x'${Buffer.from(text, 'utf8').toString('hex')}' using utf8mb4)`;
}
