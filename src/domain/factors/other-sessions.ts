/** What a person says about their other sessions when they change their second factors (ASVS 7.4.3). */
export interface OtherSessions {
  /** The session that goes on, or the login that waits for its factor and has none yet. */
  readonly sessionId: string
  /** Left out: the usual of the change. */
  readonly endOtherSessions?: boolean | undefined
}

/** For `FactorChange`: left out where the other sessions go on. */
export function endsAllBut(
  { sessionId, endOtherSessions }: OtherSessions,
  usual: boolean,
): { readonly endsAllBut?: { readonly sessionId: string } } {
  return (endOtherSessions ?? usual) ? { endsAllBut: { sessionId } } : {}
}
