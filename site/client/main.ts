/** Behaviour of pages beyond their text: search, copy buttons, and scrolling of wide parts by keyboard. */
import './style.css';
import { searchDialog } from './search-dialog.ts';

const COPIED_MS = 1500;

function setUpSearch(): void {
  const { root = '', search = '' } = document.documentElement.dataset;
  const button = document.querySelector<HTMLButtonElement>('#search-button');
  if (button === null) return;
  const open = searchDialog(root, search);
  button.hidden = false;
  button.addEventListener('click', open);
  document.addEventListener('keydown', (event) => {
    const isTyping = event.target instanceof HTMLElement && event.target.matches('input, select, textarea');
    const isChord = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k';
    if (!isChord && (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey)) return;
    event.preventDefault();
    open();
  });
}

/** Makes parts that are wider than the page focusable, so that the arrow keys scroll them. */
function setUpScrolling(): void {
  const observer = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      if (target.scrollWidth > target.clientWidth) target.setAttribute('tabindex', '0');
      else target.removeAttribute('tabindex');
    }
  });
  for (const each of document.querySelectorAll('article pre, .table')) observer.observe(each);
}

function setUpCopying(): void {
  // Only in secure contexts.
  const { clipboard } = navigator as Partial<Pick<Navigator, 'clipboard'>>;
  if (clipboard === undefined) return;
  for (const block of document.querySelectorAll<HTMLElement>('.code')) {
    const button = document.createElement('button');
    button.className = 'copy';
    button.textContent = 'Copy';
    button.addEventListener('click', async () => {
      await clipboard.writeText(block.querySelector('pre')?.textContent ?? '');
      button.textContent = 'Copied';
      setTimeout(() => {
        button.textContent = 'Copy';
      }, COPIED_MS);
    });
    block.append(button);
  }
}

/** Scrolls the list of pages to the current one. */
function setUpPages(): void {
  const list = document.querySelector<HTMLElement>('.pages');
  const current = list?.querySelector<HTMLElement>('[aria-current]');
  if (list === null || current === null || current === undefined) return;
  const show = (): void => {
    // Not `scrollIntoView`: the first Tab would start from the link, beyond the link that skips the list.
    list.scrollTop = current.offsetTop - list.clientHeight / 2;
  };
  show();
  list.addEventListener('toggle', show);
}

setUpSearch();
setUpScrolling();
setUpCopying();
setUpPages();
