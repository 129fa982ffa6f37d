/** A stored text is too long for the index that is to name its column; the name is what reaches the host's log. */
export class TextTooLongError extends Error {
  override readonly name = 'TextTooLongError'
  readonly code = 'stored_text_too_long_for_index'
}
