import type { UserReply } from '../../../host/replies.ts'
import type { Surface } from '../shared/surface-switch.ts'

/** A user that a page is about. */
export interface UserOnPage extends UserReply {
  readonly surface: Surface
  /** The operator who looks at the page. */
  readonly isSelf: boolean
}

/** The path of the user on this host. */
export const pathOf = ({ surface, user }: UserOnPage): string => `/users/${surface}/${user.id}`
