const SLAB = 16 * 1024;
const SHORT = 48;

/**
 * Frontend messages of the extended query protocol, written into slabs. A slab is never overwritten: the socket reads it without a copy.
 * https://www.postgresql.org/docs/current/protocol-message-formats.html
 */
export class OutputBuffer {
  #slab: Buffer = Buffer.allocUnsafeSlow(SLAB);
  #start = 0;
  #end = 0;
  #full: Buffer[] = [];

  get isEmpty(): boolean {
    return this.#end === this.#start && this.#full.length === 0;
  }

  /** Returns everything written since the last call. */
  take(): readonly Buffer[] {
    const parts = this.#full;
    if (this.#end > this.#start) parts.push(this.#slab.subarray(this.#start, this.#end));
    this.#start = this.#end;
    this.#full = [];
    return parts;
  }

  parse(name: string, text: string): void {
    const length = Buffer.byteLength(text);
    this.#reserve(name.length + length + 16);
    this.#header(0x50, 4 + name.length + 1 + length + 1 + 2);
    this.#name(name);
    this.#end += this.#slab.write(text, this.#end);
    this.#slab[this.#end++] = 0;
    this.#int16(0);
  }

  /** Binds to the unnamed portal, with parameters and results in text format. */
  bind(name: string, values: readonly (string | null)[]): void {
    let bound = name.length + 16;
    for (const value of values) bound += 4 + (value === null ? 0 : value.length < SHORT ? value.length * 3 : Buffer.byteLength(value));
    this.#reserve(bound);
    const slab = this.#slab;
    const first = this.#end;
    slab[this.#end] = 0x42;
    this.#end += 5;
    slab[this.#end++] = 0;
    this.#name(name);
    this.#int16(0);
    this.#int16(values.length);
    for (const value of values) {
      if (value === null) {
        this.#int32(-1);
        continue;
      }
      const at = this.#end;
      this.#end += 4;
      const written = value.length < SHORT ? writeShort(slab, value, this.#end) : slab.write(value, this.#end);
      slab.writeInt32BE(written, at);
      this.#end += written;
    }
    this.#int16(0);
    slab.writeInt32BE(this.#end - first - 1, first + 1);
  }

  /** Requests the column names of the unnamed portal. */
  describe(): void {
    this.#reserve(7);
    this.#header(0x44, 6);
    this.#slab[this.#end++] = 0x50;
    this.#slab[this.#end++] = 0;
  }

  execute(): void {
    this.#reserve(10);
    this.#header(0x45, 9);
    this.#slab[this.#end++] = 0;
    this.#int32(0);
  }

  sync(): void {
    this.#reserve(5);
    this.#header(0x53, 4);
  }

  /** Closes a prepared statement, if it exists. */
  close(name: string): void {
    this.#reserve(name.length + 8);
    this.#header(0x43, 4 + 1 + name.length + 1);
    this.#slab[this.#end++] = 0x53;
    this.#name(name);
  }

  /** Sends SQL by the simple query protocol. */
  query(text: string): void {
    const length = Buffer.byteLength(text);
    this.#reserve(length + 8);
    this.#header(0x51, 4 + length + 1);
    this.#end += this.#slab.write(text, this.#end);
    this.#slab[this.#end++] = 0;
  }

  copyFail(reason: string): void {
    const length = Buffer.byteLength(reason);
    this.#reserve(length + 8);
    this.#header(0x66, 4 + length + 1);
    this.#end += this.#slab.write(reason, this.#end);
    this.#slab[this.#end++] = 0;
  }

  terminate(): void {
    this.#reserve(5);
    this.#header(0x58, 4);
  }

  #reserve(size: number): void {
    if (this.#end + size <= this.#slab.length) return;
    if (this.#end > this.#start) this.#full.push(this.#slab.subarray(this.#start, this.#end));
    this.#slab = Buffer.allocUnsafeSlow(Math.max(SLAB, size));
    this.#start = 0;
    this.#end = 0;
  }

  #header(type: number, length: number): void {
    this.#slab[this.#end++] = type;
    this.#int32(length);
  }

  /** Names are generated: short and ASCII. */
  #name(name: string): void {
    for (let i = 0; i < name.length; i++) this.#slab[this.#end++] = name.charCodeAt(i);
    this.#slab[this.#end++] = 0;
  }

  #int16(value: number): void {
    this.#slab[this.#end++] = value >> 8;
    this.#slab[this.#end++] = value;
  }

  #int32(value: number): void {
    this.#slab[this.#end++] = value >> 24;
    this.#slab[this.#end++] = value >> 16;
    this.#slab[this.#end++] = value >> 8;
    this.#slab[this.#end++] = value;
  }
}

/** Writes a short ASCII text, which is faster than a call into the runtime. */
function writeShort(slab: Buffer, value: string, at: number): number {
  for (let i = 0; i < value.length; i++) {
    const code = value.charCodeAt(i);
    if (code > 127) return slab.write(value, at);
    slab[at + i] = code;
  }
  return value.length;
}
