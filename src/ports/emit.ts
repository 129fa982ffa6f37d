import type { AuthEvent } from './auth-event.js'
import type { RequestSource } from './request-source.js'

type Header = 'type' | 'surface' | 'at' | keyof RequestSource

/** What an event says of its own, beside the header that all events have. */
export type EventFacts<Type extends AuthEvent['type']> = Omit<
  AuthEvent & { readonly type: Type },
  Header
>

/**
 * Emits an event of one surface. The source is null where no request is behind it. Its time is now,
 * unless the facts give the time of the act.
 */
export type Emit = <Type extends AuthEvent['type']>(
  type: Type,
  source: RequestSource | null,
  facts: EventFacts<Type> & { readonly at?: number },
) => void
