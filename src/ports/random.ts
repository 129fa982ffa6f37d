/** The only source of randomness. Must be cryptographically secure. */
export interface Random {
  bytes(length: number): Uint8Array
}
