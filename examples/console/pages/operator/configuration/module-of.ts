import type { OperatorContext } from '../operator-page.ts'
import type { Field, Module } from './module-types.ts'

/** A module with its declarations, whose types the reply gives as texts. */
export async function moduleOf(
  { operator, signal }: Pick<OperatorContext, 'operator' | 'signal'>,
  name: string,
): Promise<Module> {
  const module = await operator.call('GET /v1/admin/modules/{name}', { name }, { signal })
  return { ...module, fields: module.fields as readonly Field[] }
}
