const hidden = '[secret]'

/**
 * A secret that shows itself to `reveal()` alone: `JSON.stringify`, `util.inspect`, `String` and a template
 * give `[secret]`, and a structured clone is empty.
 */
export class SecretText {
  readonly #text: string

  constructor(text: string) {
    this.#text = text
  }

  /** The secret itself. */
  reveal(): string {
    return this.#text
  }

  toString(): string {
    return hidden
  }

  toJSON(): string {
    return hidden
  }

  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return hidden
  }
}
