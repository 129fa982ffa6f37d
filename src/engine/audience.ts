type Surface = 'operator' | 'client'

const accepted = {
  operator: ['operator', 'service'],
  client: ['client'],
} as const satisfies Readonly<Record<Surface, readonly (Surface | 'service')[]>>

/**
 * The audiences whose access tokens this surface lets in. Service accounts therefore
 * reach the operator surface and nothing else.
 */
export function acceptedAudiences(surface: Surface): readonly (Surface | 'service')[] {
  return accepted[surface]
}
