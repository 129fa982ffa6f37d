import type { Asking, Exchange, Happening, History, SessionWrite } from '../history.js'

type Opened = Extract<SessionWrite, { readonly kind: 'open' }>

/** What happened to one session from the writing of its family on. */
export interface SessionStory {
  readonly opened: Opened
  /** The user's epoch then, and whether the account was enabled. */
  readonly userEpoch: number
  readonly enabled: boolean
  /** The requests that had put the session on the denylist before its family was there. */
  readonly deniedBefore: readonly string[]
  readonly happenings: readonly (Asking | SessionWrite)[]
}

const concernsSession = ({ session }: Exchange, id: string): boolean => session === id

function concerns(
  happening: Happening,
  { session, userId }: Opened,
): happening is Asking | SessionWrite {
  switch (happening.kind) {
    case 'record':
    case 'edit':
    case 'link':
    case 'ticket':
    case 'take':
    case 'account':
    case 'switch':
    case 'fault':
      return false
    case 'begin':
    case 'end':
      return concernsSession(happening.exchange, session)
    case 'deny':
      return happening.sessions.includes(session)
    case 'user':
      return happening.userId === userId
    default:
      return happening.session === session
  }
}

/** The sessions of a history, each with what happened to it. */
export function sessionStories({ happenings }: History): readonly SessionStory[] {
  const stories: SessionStory[] = []
  const users = new Map<string, { readonly epoch: number; readonly enabled: boolean }>()
  happenings.forEach((happening, index) => {
    if (happening.kind === 'user') users.set(happening.userId, happening)
    if (happening.kind !== 'open') return
    const { epoch: userEpoch, enabled } = users.get(happening.userId) ?? {
      epoch: happening.epoch,
      enabled: true,
    }
    const after = happenings
      .slice(index + 1)
      .filter((one): one is Asking | SessionWrite => concerns(one, happening))
    const deniedBefore = happenings.slice(0, index).flatMap((one) => {
      return one.kind === 'deny' && one.sessions.includes(happening.session) ? [one.request] : []
    })
    const before = { userEpoch, enabled, deniedBefore }
    stories.push({ opened: happening, ...before, happenings: after })
  })
  return stories
}
