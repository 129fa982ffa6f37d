import { type Field, field } from '../field.ts'
import type { SurfaceOptions } from '../page.ts'

/** The box to accept the terms with, where the surface has any. */
export function termsField({ termsVersion }: SurfaceOptions): Field | null {
  if (termsVersion === null) return null
  return field({
    name: 'acceptedTermsVersion',
    label: `I accept the terms, version ${termsVersion}`,
    attributes: { type: 'checkbox', required: true },
  })
}

/** What to send with it. */
export function acceptedTerms({ termsVersion }: SurfaceOptions, terms: Field | null) {
  return termsVersion !== null && terms?.input.checked ? { acceptedTermsVersion: termsVersion } : {}
}
