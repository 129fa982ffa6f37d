import type { ReadRows } from './rows-of-app.js'

export interface UserName {
  /** The id that the user was mapped to, or that of SuperTokens. Other tables call the user by it. */
  readonly name: string
  /** Whether another user has it: SuperTokens allows that where a mapping is made with force. */
  readonly isShared: boolean
}

/** By which ids the host knows users. */
export async function userNames(
  read: ReadRows,
  ids: readonly string[],
): Promise<ReadonlyMap<string, UserName>> {
  const mappings = await read('userid_mapping', 'supertokens_user_id', ids)
  const mapped = new Map(
    [...mappings].flatMap(([id, [first]]) =>
      first === undefined ? [] : [[id, String(first['external_user_id'])] as const],
    ),
  )
  const users = await read('app_id_to_user_id', 'user_id', [...mapped.values()])
  const mappedTo = await read('userid_mapping', 'external_user_id', ids)
  const isUser = (id: string) => (users.get(id) ?? []).length > 0
  const isMappedTo = (id: string) =>
    (mappedTo.get(id) ?? []).some((row) => row['supertokens_user_id'] !== id)
  return new Map(
    ids.map((id) => {
      const name = mapped.get(id) ?? id
      return [id, { name, isShared: name === id ? isMappedTo(id) : isUser(name) }]
    }),
  )
}
