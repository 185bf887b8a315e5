/** Theme of the pages: that of the system unless another one is selected. Runs before the page is drawn. */

const KEY = 'svc-docs:theme';

function storedTheme(): string {
  try {
    return localStorage.getItem(KEY) ?? 'system';
  } catch {
    return 'system';
  }
}

function showTheme(theme: string): void {
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset['theme'] = theme;
  else delete document.documentElement.dataset['theme'];
}

showTheme(storedTheme());

document.addEventListener('DOMContentLoaded', () => {
  const label = document.querySelector<HTMLElement>('#theme');
  const select = label?.querySelector('select');
  if (label === null || select === null || select === undefined) return;
  label.hidden = false;
  select.value = document.documentElement.dataset['theme'] ?? 'system';
  select.addEventListener('change', () => {
    showTheme(select.value);
    try {
      localStorage.setItem(KEY, select.value);
    } catch {
      // The theme of the system applies next time.
    }
  });
});
