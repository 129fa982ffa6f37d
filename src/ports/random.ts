/** The only source of randomness. It must be cryptographically secure. */
export interface Random {
  bytes(length: number): Uint8Array
}
