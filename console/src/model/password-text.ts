/** Returns true if SQL may contain a password, as statements about users and servers and addresses with credentials do. */
export function mayHoldPassword(sql: string): boolean {
  return /passw(?:or)?d|\bpwd\s*=|\bidentified\s+(?:by|with|via)\b|:\/\/[^\s/'"@:]*:[^\s/'"]*@/i.test(sql);
}
