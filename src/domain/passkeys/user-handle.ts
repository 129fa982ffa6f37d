/** What an authenticator knows a person by (WebAuthn §14.6.1): the id, base64url, and no address. */
export function userHandleOf(userId: string): string {
  return Buffer.from(userId).toString('base64url')
}
