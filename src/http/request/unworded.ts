/**
 * For a schema that reads a request: no issue needs a text, since replies have none. Without it, the library asks
 * what the host may have configured for all schemas of its process, and hands over what was sent.
 */
export const unworded = { error: () => 'not valid' } as const
