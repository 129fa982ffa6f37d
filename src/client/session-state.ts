/** The user of a session, as pages show it. */
export interface SessionUser {
  readonly id: string
  readonly email: string
  readonly name: string
  readonly emailVerified: boolean
}

/**
 * What is known of the session. `loading`: nothing yet; `restore` finds out. `signedOut`: `reason` is the code of
 * the refusal that ended the session, such as `session_revoked`, and null where there was none or where the user
 * signed out. `signedIn`: by this user.
 */
export type SessionState =
  | { readonly status: 'loading' }
  | { readonly status: 'signedOut'; readonly reason: string | null }
  | { readonly status: 'signedIn'; readonly user: SessionUser }

/** A value that tells when it changes. */
export interface StateKeeper {
  get(): SessionState
  set(next: SessionState): void
  /** The id of the user who is signed in; else null. */
  userId(): string | null
  subscribe(listener: () => void): () => void
}

export function stateKeeper(): StateKeeper {
  let state: SessionState = { status: 'loading' }
  const listeners = new Set<() => void>()
  return {
    get: () => state,
    userId: () => (state.status === 'signedIn' ? state.user.id : null),
    set(next) {
      // The same snapshot as long as it says the same, for those who compare by identity.
      if (JSON.stringify(next) === JSON.stringify(state)) return
      state = next
      for (const listener of listeners) listener()
    },
    subscribe(listener) {
      // Its own, so that a listener that is added twice is removed one by one.
      const own = () => listener()
      listeners.add(own)
      return () => listeners.delete(own)
    },
  }
}
