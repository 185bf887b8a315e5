/** Whether calls can be made to it: an absolute URL of http or https. */
export function isWebUrl(text: string): boolean {
  return /^https?:\/\//i.test(text) && URL.canParse(text);
}
