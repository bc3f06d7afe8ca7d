import { defineCommand } from '../command-line/command.ts'
import { CONNECTION_DETAILS } from '../connection/connection-options.ts'
import { INVITE_OPTIONS } from './invite-options.ts'

/** `portcullis invite`. */
export const INVITE = defineCommand({
  name: 'invite',
  summary: 'make an identity or a router and its enrollment token, in one step',
  operands: 'NAME',
  options: INVITE_OPTIONS,
  hasJson: true,
  details: `Makes the identity or the edge router of that name unless there is one, and gives out its one-time token (JWT). One that has
not enrolled yet is invited again: a token that is still good is given out once more, one that has run out is renewed. One that
has enrolled is left alone. ${CONNECTION_DETAILS}`,
  examples: [
    'portcullis invite laptop --attributes staff,sales --out laptop.jwt',
    'portcullis invite phone --qr',
    'portcullis invite r1 --router --advertise r1.example.org:3022 --out r1.jwt --config r1.yml',
  ],
  run: async (call) => {
    const { invite } = await import('./give-invitation.ts')
    return invite(call)
  },
})
