/**
 * The kind of a user: empty for a person, `service` for a service account. Set when the user is made,
 * and never changed.
 */
export type UserKind = '' | 'service'
