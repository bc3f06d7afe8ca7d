import { type Command, type CommandGroup, defineCommand, type ListedCommand } from '../command-line/command.ts'
import type { OptionDeclaration } from '../command-line/options.ts'
import { UsageError } from '../command-line/usage.ts'

const SHELLS = ['bash', 'zsh', 'fish'] as const

/** `portcullis completion`, for the commands of the program. */
export function completionCommand(groups: readonly CommandGroup[]): Command {
  return defineCommand({
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
      return {
        text: await completionScript(
          known,
          groups.flatMap(({ commands }) => commands),
        ),
      }
    },
  })
}

/** The continuations of some words of a command line: words, and the options of a command with their choices. */
interface Place {
  /** The words before it, with blanks between: nothing, `admin`, `admin reset-password`. */
  readonly path: string
  readonly words: readonly string[]
  readonly options: readonly (readonly [name: string, declaration: OptionDeclaration])[]
}

/** The script that completes commands, options and choices in a shell. */
async function completionScript(shell: 'bash' | 'zsh' | 'fish', commands: readonly ListedCommand[]): Promise<string> {
  const places = await placesOf(commands)
  if (shell === 'fish') return fish(places)
  const body = bash(places)
  return shell === 'bash' ? body : `#compdef portcullis\nautoload -U +X bashcompinit && bashcompinit\n${body}`
}

async function placesOf(commands: readonly ListedCommand[]): Promise<readonly Place[]> {
  const own = await Promise.all(
    commands.map(async ({ name, load }): Promise<Place> => {
      const { options, words = [], hasJson } = await load()
      const all = { ...options, ...(hasJson && { json: { summary: 'print JSON' } }) }
      return { path: name, words, options: [...Object.entries(all), ['help', { summary: 'print help' }]] }
    }),
  )
  const firsts = [...new Set(commands.map(({ name }) => name.split(' ')[0] ?? name))]
  const below = firsts.flatMap((first) => {
    const words = commands.flatMap(({ name }) => (name.startsWith(`${first} `) ? [name.slice(first.length + 1)] : []))
    return words.length === 0 ? [] : [{ path: first, words, options: [] }]
  })
  return [{ path: '', words: firsts, options: [] }, ...below, ...own]
}

/** Bash, and zsh by its emulation: the place is the command that the words before the cursor spell. */
function bash(places: readonly Place[]): string {
  const cases = places.map(({ path, words, options }) => {
    const all = [...words, ...options.map(([name]) => `--${name}`)].join(' ')
    return `    '${path}') reply='${all}' ;;`
  })
  const choices = places.flatMap(({ path, options }) =>
    options.flatMap(([name, { choices }]) =>
      choices === undefined
        ? []
        : [`    '${path} --${name}') COMPREPLY=($(compgen -W '${choices.join(' ')}' -- "$word")); return ;;`],
    ),
  )
  return `_portcullis() {
  local word="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" place='' reply='' part
  for part in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case " ${places.map(({ path }) => path.replaceAll(' ', '+')).join(' ')} " in
      *" \${place:+$place+}$part "*) place="\${place:+$place+}$part" ;;
    esac
  done
  place="\${place//+/ }"
  case "$place $before" in
${choices.join('\n')}
  esac
  case "$place" in
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$reply" -- "$word"))
  [ \${#COMPREPLY[@]} -gt 0 ] || COMPREPLY=($(compgen -f -- "$word"))
}
complete -F _portcullis portcullis`
}

function fish(places: readonly Place[]): string {
  const lines = places.flatMap(({ path, words, options }) => {
    const condition = `'test "$(__portcullis_place)" = "${path}"'`
    const shown = words.length === 0 ? [] : [`complete -c portcullis -n ${condition} -f -a '${words.join(' ')}'`]
    return [
      ...shown,
      ...options.map(([name, { summary, value, choices }]) => {
        const takes = choices === undefined ? (value === undefined ? '' : ' -r') : ` -x -a '${choices.join(' ')}'`
        const text = summary.replaceAll(/['\\]/g, '').slice(0, 80)
        return `complete -c portcullis -n ${condition} -l ${name}${takes} -d '${text}'`
      }),
    ]
  })
  const paths = places.flatMap(({ path }) => (path === '' ? [] : [`'${path}'`])).join(' ')
  return `function __portcullis_place
  set -l place ''
  for part in (commandline -opc)[2..]
    set -l next (string trim "$place $part")
    contains -- "$next" ${paths}; and set place "$next"
  end
  echo $place
end
${lines.join('\n')}`
}
