import { type Command, defineCommand } from '../command-line/command.ts'
import { UsageError } from '../command-line/usage.ts'

const SHELLS = ['bash', 'zsh', 'fish'] as const

/** `portcullis completion`, for the commands that there are. */
export function completionCommand(commands: () => readonly Command[]): Command {
  return defineCommand({
    name: 'completion',
    summary: 'write what lets a shell complete commands and options',
    operands: 'bash|zsh|fish',
    words: SHELLS,
    options: {},
    examples: [
      'source <(portcullis completion bash)',
      'portcullis completion zsh > "$' + '{fpath[1]}/_portcullis"',
      'portcullis completion fish > ~/.config/fish/completions/portcullis.fish',
    ],
    run: async ({ operands }) => {
      const [shell, ...more] = operands
      const known = SHELLS.find((one) => one === shell)
      if (known === undefined || more.length > 0) throw new UsageError('completion takes bash, zsh or fish')
      const { completionScript } = await import('./completion-script.ts')
      return { text: await completionScript(known, commands()) }
    },
  })
}
