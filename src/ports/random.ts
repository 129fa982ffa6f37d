/** The only source of randomness. It must be cryptographically secure. */
export interface Random {
  bytes(length: number): Uint8Array
  /**
   * As many bytes for a name, which has to be unique and need not be secret. They may have been drawn
   * before, together with others. Default: `bytes`.
   */
  nameBytes?(length: number): Uint8Array
}
