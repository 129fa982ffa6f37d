import type { User } from '../../../src/model/user.js'
import type { Backend } from '../../../src/ports/backend.js'
import type { Collection, Doc } from '../../../src/ports/store.js'

const epochs = ['sessionEpoch', 'credentialEpoch', 'deviceEpoch'] as const

/** What another process does to the account between a read of it and the write that follows. */
export const overtakings = [...epochs, 'disabled'] as const
export type Overtaking = (typeof overtakings)[number]

/** What a disabled account must not be given: it would be there when the account is enabled again. */
const effects = ['passwordHash', 'email', 'emailVerifiedAt'] as const

export interface WatchedUsers {
  readonly wrapBackend: (backend: Backend) => Backend
  /** Before the n-th write of a user from now on, another process is faster. */
  overtake(nth: number, how: Overtaking): void
  /** Whether it was; forgets what is left of it. */
  wasOvertaken(): boolean
  /** Writes that undid what the other process had done, in words. */
  readonly undone: readonly string[]
}

/** Stands between the library and its store, and knows the rules that no write of a user may break. */
export function watchedUsers(): WatchedUsers {
  const undone: string[] = []
  let before: { left: number; readonly how: Overtaking } | null = null
  let overtaken = false

  async function runAhead(users: Collection<User>, id: string): Promise<void> {
    if (before === null) return
    before.left -= 1
    if (before.left > 0) return
    const { how } = before
    before = null
    const user = await users.get(id)
    if (user === null) return
    overtaken = true
    const raised = how === 'disabled' ? {} : { [how]: user[how] + 1 }
    // As `users.update({ enabled: false })` does, in one write.
    const disabled = { enabled: false, sessionEpoch: user.sessionEpoch + 1, keptSessionId: null }
    await users.update(id, { enabled: user.enabled }, how === 'disabled' ? disabled : raised)
  }

  function judge(seen: User, set: Partial<User>, written: User): void {
    for (const epoch of epochs) {
      if (written[epoch] < seen[epoch]) undone.push(`${epoch} goes back`)
      if (set[epoch] !== undefined && written[epoch] <= seen[epoch])
        undone.push(`two acts raise ${epoch} once`)
    }
    const given = effects.filter((field) => set[field] !== undefined && set[field] !== null)
    if (!seen.enabled && set.enabled !== true && given.length > 0)
      undone.push(`a disabled account is given ${given.join(' and ')}`)
  }

  const watch = (users: Collection<User>): Collection<User> => ({
    ...users,
    async update(id, guard, set) {
      await runAhead(users, id)
      const seen = await users.get(id)
      const written = await users.update(id, guard, set)
      if (seen !== null && written !== null) judge(seen, set, written)
      return written
    },
  })

  return {
    undone,
    wrapBackend: (backend) => ({
      ...backend,
      store: {
        ...backend.store,
        collection<T extends Doc>(spec: Parameters<typeof backend.store.collection<T>>[0]) {
          const collection = backend.store.collection(spec)
          if (!spec.name.endsWith('_users')) return collection
          // The collection of users, which the name tells and the types do not.
          return watch(collection as unknown as Collection<User>) as unknown as typeof collection
        },
      },
    }),
    overtake(nth, how) {
      before = { left: nth, how }
      overtaken = false
    },
    wasOvertaken() {
      before = null
      return overtaken
    },
  }
}
