/** What a call of an operation takes, and what it resolves with. */
export interface Call<Input, Reply> {
  readonly input: Input
  readonly reply: Reply
}
