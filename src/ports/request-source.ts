/** Where a request came from, as far as the host's trust-proxy setting lets us know. */
export interface RequestSource {
  readonly ip: string | null
  readonly userAgent: string | null
}
