import type { Response } from 'express'
import type { TokenReplies } from './token-replies.js'

/** Null is silence: the connection stays open until the provider is closed. */
export function sendToken(
  response: Response,
  reply: Awaited<ReturnType<TokenReplies['prepare']>>,
): void {
  if (reply === null) return
  if (reply.location !== undefined) response.set('location', reply.location)
  response.status(reply.status).type(reply.type).send(reply.text)
}
