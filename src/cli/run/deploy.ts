/** `svc deploy`: migrations, metadata and seeds in the right order. */
import { type CommandContext, flagOption, type CommandOutcome, textOption } from '../context.ts';
import { DeploymentSteps } from './deployment-steps.ts';
import { requirePlan } from './plan.ts';
import { type Deployment, prepareDeployment } from './prepare-deployment.ts';
import { runOptions } from './run-options.ts';

/** `svc deploy` */
export async function runDeploy(context: CommandContext): Promise<CommandOutcome> {
  const plan = textOption(context, 'plan');
  if (plan !== undefined) await requirePlan(context, plan);
  return deploy({
    project: await context.project(),
    server: await context.server(),
    kinds: await context.kinds(),
    options: runOptions(context),
    withSeeds: flagOption(context, 'withSeeds'),
    once: flagOption(context, 'once'),
    allowInconsistent: flagOption(context, 'allowInconsistent'),
    allowChanged: flagOption(context, 'allowChanged'),
    progress: context.progress,
    warn: context.warn,
  });
}

/**
 * Deploys a project to a service. If a step fails, the outcome lists the steps that were done and those that were not.
 * @throws ProjectFailure before the first step
 */
export async function deploy(at: Deployment): Promise<CommandOutcome> {
  const prepared = await prepareDeployment(at);
  if ('newer' in prepared) return { text: `nothing is deployed: ${prepared.newer}`, data: { newer: prepared.newer } };
  return new DeploymentSteps(at, prepared).run();
}
