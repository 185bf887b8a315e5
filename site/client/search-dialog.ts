/** Dialog of the search: a field and a list of links. The arrow keys move between them, Enter opens the first result. */
import { type Found, openSearch, type Search } from './search.ts';

const SETTLE_MS = 80;
const HINT = 'Type a word, an option, an operator or an error code.';

interface Parts {
  readonly dialog: HTMLDialogElement;
  readonly input: HTMLInputElement;
  readonly list: HTMLUListElement;
  readonly status: HTMLParagraphElement;
}

/** Returns a function that opens the dialog. */
export function searchDialog(root: string, address: string): () => void {
  const { dialog, input, list, status } = createParts();
  let search: Search | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const show = (): void => {
    clearTimeout(timer);
    if (search === null) return;
    const query = input.value.trim();
    const found = query === '' ? [] : search.find(query);
    list.replaceChildren(...found.map((each) => resultElement(each, root)));
    list.scrollTop = 0;
    status.textContent =
      query === '' ? HINT : found.length === 0 ? 'No results' : `${found.length} ${found.length === 1 ? 'result' : 'results'}`;
  };
  const load = async (): Promise<void> => {
    status.textContent = 'Loading …';
    try {
      search = await openSearch(address);
      show();
    } catch (thrown) {
      status.textContent = thrown instanceof Error ? thrown.message : 'The search cannot be loaded.';
    }
  };
  /** Moves the focus between the field, at 0, and the results. */
  const move = (step: number): void => {
    const stops: HTMLElement[] = [input, ...list.querySelectorAll('a')];
    const current = stops.indexOf(document.activeElement as HTMLElement);
    stops[Math.min(Math.max(current + step, 0), stops.length - 1)]?.focus();
  };

  input.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(show, SETTLE_MS);
  });
  dialog.addEventListener('keydown', (event) => {
    if (event.key === 'ArrowDown') move(1);
    else if (event.key === 'ArrowUp') move(-1);
    else if (event.key === 'Enter' && event.target === input) {
      show();
      list.querySelector('a')?.click();
    } else return;
    event.preventDefault();
  });
  dialog.addEventListener('click', ({ target }) => {
    if (target === dialog || (target instanceof Element && target.closest('a') !== null)) dialog.close();
  });
  return () => {
    if (dialog.open) return;
    dialog.showModal();
    input.select();
    if (search === null) void load();
  };
}

function createParts(): Parts {
  const dialog = document.createElement('dialog');
  dialog.className = 'search';
  dialog.setAttribute('aria-label', 'Search');
  const input = document.createElement('input');
  input.type = 'search';
  input.placeholder = 'Search the documentation';
  input.autocomplete = 'off';
  input.spellcheck = false;
  input.setAttribute('aria-label', 'Search the documentation');
  const status = document.createElement('p');
  status.setAttribute('role', 'status');
  const list = document.createElement('ul');
  dialog.append(input, status, list);
  document.body.append(dialog);
  return { dialog, input, list, status };
}

function resultElement({ address, page, heading, excerpt, terms }: Found, root: string): HTMLElement {
  const item = document.createElement('li');
  const link = document.createElement('a');
  link.href = root + address;
  const title = document.createElement('strong');
  title.append(...marked(page === heading ? page : `${page} › ${heading}`, terms));
  const text = document.createElement('span');
  text.append(...marked(excerpt, terms));
  link.append(title, text);
  item.append(link);
  return item;
}

/** Returns the text with its terms in `mark` elements. Terms consist of letters, digits and `_-$@`. */
function marked(text: string, terms: readonly string[]): (string | HTMLElement)[] {
  const longestFirst = terms.toSorted((a, b) => b.length - a.length).map((term) => term.replaceAll('$', '\\$'));
  if (longestFirst.length === 0) return [text];
  return text.split(new RegExp(`(${longestFirst.join('|')})`, 'giu')).map((part, index) => {
    if (index % 2 === 0) return part;
    const mark = document.createElement('mark');
    mark.textContent = part;
    return mark;
  });
}
