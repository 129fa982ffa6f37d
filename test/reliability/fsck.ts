import type { User } from '../../src/model/user.js'
import type { Collection, Doc } from '../../src/ports/store.js'
import { type Database, type Picture, pictureOf, staticProblems } from './invariants.js'

export interface Checked {
  /** What no crash may leave behind. */
  readonly problems: readonly string[]
  readonly users: ReadonlyMap<string, User>
  readonly picture: Picture
  /** What a crash may leave behind, and who touches it next puts right; none of it opens a door. */
  readonly leftovers: Leftovers
}

export interface Leftovers {
  /** A login was cut short before its family: the document names a session nobody can use. */
  readonly sessionsWithoutFamily: number
  /** The same, before its document: a row that no token was signed for. */
  readonly familiesWithoutSession: number
  /** Endings begun and not finished, the denylist first. */
  readonly endingsBegun: number
  /** Revoked, and the document not closed yet. */
  readonly documentsToClose: number
}

const farFuture = Date.UTC(9000, 0, 1)
const plenty = 1_000_000

/** What is still wrong at a second look: of what goes on meanwhile, one look sees the one half. */
export async function fsckUnderLoad(database: Database): Promise<Checked> {
  const [first, second] = [await fsck(database), await fsck(database)]
  const before = new Set(first.problems)
  return { ...second, problems: second.problems.filter((problem) => before.has(problem)) }
}

/** Everything a surface's collections hold, looked at as a whole, on any store. */
export async function fsck(database: Database): Promise<Checked> {
  const { stored } = database
  const [families, sessions, links] = await Promise.all([
    everything(stored.families),
    everything(stored.sessions),
    everything(stored.intents),
  ])
  // After what belongs to them: a user who comes meanwhile makes no orphan.
  const users = await allUsers(stored.users)
  const picture = await pictureOf(database, users.keys())
  const addresses = new Map<string, string>()
  const problems = [
    ...staticProblems(picture, []),
    // A link that makes an account names one that is not there yet, or never will be.
    ...[...families, ...sessions, ...links.filter(({ kind }) => kind !== 'register')].flatMap(
      ({ id, userId }) =>
        users.has(userId ?? '') ? [] : [`${id} belongs to user ${userId}, whom nobody knows`],
    ),
    ...links.flatMap(({ id, kind, userId }) =>
      id === `${kind}:${userId}` ? [] : [`link ${id} is somebody else's`],
    ),
    ...[...users.values()].flatMap(({ id, email }) => {
      const other = addresses.get(email)
      addresses.set(email, id)
      return other === undefined ? [] : [`${email} is the address of ${other} and of ${id}`]
    }),
  ]
  return { problems, users, picture, leftovers: leftoversOf(picture) }
}

function leftoversOf({ families, sessions, listed }: Picture): Leftovers {
  const count = <T>(all: Iterable<T>, holds: (one: T) => boolean) => [...all].filter(holds).length
  return {
    sessionsWithoutFamily: count(
      sessions.values(),
      ({ id, active }) => active && !families.has(id),
    ),
    familiesWithoutSession: count(families.values(), ({ id }) => !sessions.has(id)),
    endingsBegun: count(
      families.values(),
      ({ id, revokedAt }) => revokedAt === null && listed.has(id),
    ),
    documentsToClose: count(
      families.values(),
      ({ id, revokedAt }) => revokedAt !== null && sessions.get(id)?.active === true,
    ),
  }
}

/** By the one question that finds all of a collection, whatever its indexes. */
function everything<T extends Doc>(collection: Collection<T>): Promise<readonly T[]> {
  return collection.due(farFuture, plenty)
}

async function allUsers(users: Collection<User>): Promise<Map<string, User>> {
  const found = new Map<string, User>()
  let after = ''
  for (;;) {
    const page = await users.find({ kind: '' }, { limit: 1000, after })
    for (const user of page) found.set(user.id, user)
    const last = page.at(-1)
    if (last === undefined) return found
    after = last.id
  }
}
