/** Where a request came from. `ip` follows the host's `trustProxy`; null stands for unknown. */
export interface RequestSource {
  readonly ip: string | null
  readonly userAgent: string | null
}
