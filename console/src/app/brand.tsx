export function Brand() {
  return (
    <a class="brand" href="#/" aria-label="svc, home">
      <span class="brand-mark">
        <svg
          width="16"
          height="16"
          viewBox="0 0 16 16"
          fill="none"
          stroke="currentColor"
          stroke-width="1.5"
          stroke-linejoin="round"
          aria-hidden="true"
        >
          <path d="M2.500 5 8 2l5.500 3v6L8 14l-5.500-3V5Zm0 0L8 8l5.500-3M8 8v6" />
        </svg>
      </span>
      <span class="hide-narrow">svc</span>
    </a>
  );
}
